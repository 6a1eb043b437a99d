import { z } from 'zod';

/** RFC 3339, with the writer's precision: the kubelet uses nanoseconds. */
export const timeSchema = z.iso.datetime({ offset: true });

const position = { seq: z.int().min(1), time: timeSchema };

const logLineSchema = z.strictObject({
  ...position,
  /** The service that is built or runs; empty for the build as a whole. */
  service: z.string(),
  stage: z.string(),
  /** The pod that wrote the line of a running service. */
  pod: z.string().optional(),
  line: z.string(),
});

const buildLogEndSchema = z.strictObject({
  ...position,
  end: z.strictObject({ result: z.enum(['succeeded', 'failed', 'superseded', 'cancelled']), message: z.string() }),
});

/**
 * Messages of a build log: lines, then exactly one end message. `seq` counts from 1 without gaps, so that a reader can
 * continue after the last message that it has seen.
 */
export const buildLogMessageSchema = z.union([logLineSchema, buildLogEndSchema]);

type LogLineMessage = z.infer<typeof logLineSchema>;
type BuildLogEnd = z.infer<typeof buildLogEndSchema>;
export type BuildLogMessage = z.infer<typeof buildLogMessageSchema>;
export type BuildLogResult = BuildLogEnd['end']['result'];

/** A message without its seq. */
export type UnnumberedMessage = Omit<LogLineMessage, 'seq'> | Omit<BuildLogEnd, 'seq'>;

/** Returns a message as the line of JSON that is stored and sent: `{"seq":…,"time":…,…}`, in this order. */
export function encodeMessage(seq: number, message: UnnumberedMessage): string {
  return `{"seq":${seq},${JSON.stringify(message).slice(1)}`;
}

/** Parses the messages of a frame or a page, lines of JSON. Throws if one is not valid. */
export function decodeMessages(text: string): BuildLogMessage[] {
  return text.split('\n').map((line) => buildLogMessageSchema.parse(JSON.parse(line)));
}
