import { z } from 'zod';

/** RFC 3339, as precise as whoever wrote the line: the kubelet gives nanoseconds. */
export const timeSchema = z.iso.datetime({ offset: true });

const position = { seq: z.int().min(1), time: timeSchema };

const buildLogLineSchema = z.strictObject({
  ...position,
  /** The service that is built, or empty for what concerns the build as a whole. */
  service: z.string(),
  stage: z.string(),
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
export const buildLogMessageSchema = z.union([buildLogLineSchema, buildLogEndSchema]);

type BuildLogLine = z.infer<typeof buildLogLineSchema>;
type BuildLogEnd = z.infer<typeof buildLogEndSchema>;
export type BuildLogMessage = z.infer<typeof buildLogMessageSchema>;
export type BuildLogResult = BuildLogEnd['end']['result'];

/** A message before it has its seq: as it is stored. */
export type UnnumberedMessage = Omit<BuildLogLine, 'seq'> | Omit<BuildLogEnd, 'seq'>;

/** The field of a stream entry that holds the message; the entry's id is `<seq>-0`. */
export const MESSAGE_FIELD = 'm';

export function encodeMessage(message: UnnumberedMessage): string {
  return JSON.stringify(message);
}

/** Reads a stream entry. Throws when it is not one of ours. */
export function decodeMessage(entry: { id: string; message: Record<string, string> }): BuildLogMessage {
  try {
    const stored = storedSchema.parse(JSON.parse(entry.message[MESSAGE_FIELD] ?? ''));
    return buildLogMessageSchema.parse({ seq: Number.parseInt(entry.id, 10), ...stored });
  } catch (cause) {
    throw new Error(`the entry ${entry.id} of a build log is not a message of ours`, { cause });
  }
}

const storedSchema = z.record(z.string(), z.unknown());
