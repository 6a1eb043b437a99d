import { z } from 'zod';

/** RFC 3339, as precise as whoever wrote the line: the kubelet gives nanoseconds. */
export const timeSchema = z.iso.datetime({ offset: true });

const position = { seq: z.int().min(1), time: timeSchema };

const logLineSchema = z.strictObject({
  ...position,
  /** The service that is built or runs, or empty for what concerns the build as a whole. */
  service: z.string(),
  stage: z.string(),
  /** Of a line of a running service: the pod that wrote it. */
  pod: z.string().optional(),
  line: z.string(),
});

const buildLogEndSchema = z.strictObject({
  ...position,
  end: z.strictObject({ result: z.enum(['succeeded', 'failed', 'superseded', 'cancelled']), message: z.string() }),
});

/**
 * What a reader of a build log gets: lines, then exactly one end message. `seq` counts from 1 without gaps, so that a
 * reader can go on after the last one that it has seen.
 */
export const buildLogMessageSchema = z.union([logLineSchema, buildLogEndSchema]);

type LogLineMessage = z.infer<typeof logLineSchema>;
type BuildLogEnd = z.infer<typeof buildLogEndSchema>;
export type BuildLogMessage = z.infer<typeof buildLogMessageSchema>;
export type BuildLogResult = BuildLogEnd['end']['result'];

/** A message before it has its seq. */
export type UnnumberedMessage = Omit<LogLineMessage, 'seq'> | Omit<BuildLogEnd, 'seq'>;

/** A message as the one line of JSON that is stored and sent: `{"seq":…,"time":…,…}`, in this order. */
export function encodeMessage(seq: number, message: UnnumberedMessage): string {
  return `{"seq":${seq},${JSON.stringify(message).slice(1)}`;
}

/** The messages of a frame or a page: lines of JSON. Throws when one is not of ours. */
export function decodeMessages(text: string): BuildLogMessage[] {
  return text.split('\n').map((line) => buildLogMessageSchema.parse(JSON.parse(line)));
}
