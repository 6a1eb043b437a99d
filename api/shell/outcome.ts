import { z } from 'zod';
import type { ServerMessage } from '../../shell-protocol/frames.ts';

/** The Status that ends an exec stream. */
const statusSchema = z.object({
  status: z.string().optional(),
  reason: z.string().optional(),
  message: z.string().optional(),
  details: z
    .object({ causes: z.array(z.object({ reason: z.string().optional(), message: z.string().optional() })).optional() })
    .nullish(),
});

const maxMessage = 500;

/** Returns how a command ended, or why it could not be run, from the last frame of its stream. */
export function outcomeOf(text: string, command: readonly string[]): ServerMessage {
  const status = statusSchema.safeParse(parsed(text)).data;
  if (status?.status === 'Success') return { exit: { code: 0 } };
  const cause = status?.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message;
  if (cause !== undefined && /^\d{1,3}$/.test(cause)) return { exit: { code: Number(cause) } };
  return { failed: { message: failureOf(status?.message ?? '', command) } };
}

function failureOf(message: string, [program = '']: readonly string[]): string {
  // Messages of runc and crun: `exec: "sh": executable file not found in $PATH`, `stat /bin/x: no such file or directory`.
  if (/executable file not found|no such file or directory|not found in \$PATH/i.test(message)) {
    return `the image has no program ${program}. Name one that it has, or forward a port: images without a shell have none`;
  }
  if (/container not found|is not running|container .* is not created or running/i.test(message)) {
    return 'the container does not run any more. Connect again when the service is ready';
  }
  const reported = message === '' ? 'the cluster reported no reason' : message.slice(0, maxMessage);
  return `the command could not be run: ${reported}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
