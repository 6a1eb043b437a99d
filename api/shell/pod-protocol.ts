import { EXEC_CHANNEL, FORWARD_CHANNEL } from '../../kubernetes/pod-streams.ts';
import { CHANNEL, type ServerMessage, type TerminalSize } from '../../shell-protocol/frames.ts';
import { outcomeOf } from './outcome.ts';

/** What the frames of a pod's stream mean to the client: a data frame, the last message, or nothing. */
export type FromPod = { data: Buffer } | { last: ServerMessage } | undefined;

/** Translates between the frames of the cluster and those of the client. Frames of input are the same in both. */
export interface PodProtocol {
  fromPod: (frame: Buffer) => FromPod;
  /** The frame that ends the input; undefined if the cluster has none. */
  inputEnd?: Buffer;
  resized?: (size: TerminalSize) => Buffer;
  /** What it means that the stream ends without a last frame. */
  onClose: ServerMessage;
}

/** Returns the protocol of a command. Its channels of input, output and errors are those of the client. */
export function execProtocol(command: readonly string[]): PodProtocol {
  return {
    fromPod: (frame) => {
      const [channel] = frame;
      if (channel === CHANNEL.output || channel === CHANNEL.error)
        return frame.length > 1 ? { data: frame } : undefined;
      if (channel !== EXEC_CHANNEL.status) return undefined;
      return { last: outcomeOf(frame.toString('utf8', 1), command) };
    },
    inputEnd: Buffer.from([EXEC_CHANNEL.close, EXEC_CHANNEL.input]),
    resized: ({ columns, rows }) =>
      Buffer.concat([
        Buffer.from([EXEC_CHANNEL.resize]),
        Buffer.from(JSON.stringify({ Width: columns, Height: rows })),
      ]),
    onClose: { failed: { message: 'the connection to the container ended. Its pod may have been deleted' } },
  };
}

const portBytes = 2;
const maxMessage = 500;

/** Returns the protocol of one forwarded connection. */
export function forwardProtocol(): PodProtocol {
  // The first frame of each channel repeats the port.
  const hasStarted = new Set<number>();
  return {
    fromPod: (frame) => {
      const [channel = -1] = frame;
      const start = hasStarted.has(channel) ? 1 : 1 + portBytes;
      hasStarted.add(channel);
      const bytes = frame.subarray(start);
      if (bytes.length === 0) return undefined;
      if (channel === FORWARD_CHANNEL.data) {
        const data = frame.subarray(start - 1);
        data[0] = CHANNEL.output;
        return { data };
      }
      if (channel !== FORWARD_CHANNEL.error) return undefined;
      return { last: { failed: { message: forwardFailure(bytes.toString('utf8')) } } };
    },
    onClose: { end: true },
  };
}

function forwardFailure(message: string): string {
  if (/connection refused/i.test(message)) return 'nothing listens at this port in the pod. Check the port';
  return `the connection could not be made: ${message.slice(0, maxMessage)}`;
}
