import { ApiError } from '../../kubernetes/api-error.ts';
import { CliError, EXIT } from '../errors.ts';

/** Matches the first line of the report why kubectl ended; lines before it are for the user. */
const reportStart = /^(Error|error:|The \S+ ".*" is invalid|The connection to the server|Unable to connect)/;
/** Lines of kubectl's log. */
const logLine = /^[EWIF]\d{4} \d\d:\d\d:/;

/** HTTP status codes of reasons. */
const codes: Readonly<Record<string, number>> = {
  ...{ BadRequest: 400, Forbidden: 403, NotFound: 404, MethodNotAllowed: 405, AlreadyExists: 409, Conflict: 409 },
  ...{ Invalid: 422, TooManyRequests: 429, InternalError: 500, ServiceUnavailable: 503, Timeout: 504 },
};

/** The API server does not answer: the same request may succeed later. */
export class ClusterUnreachableError extends CliError {}

/** Splits the standard error of kubectl into lines that the user must see at once, and the report why it ended. */
export class ErrorOutput {
  #report = '';

  /** Reads a line; returns it if the user must see it at once. */
  take(line: string): string | undefined {
    if (logLine.test(line) || line.trim() === '') return undefined;
    if (this.#report === '' && !reportStart.test(line)) return line;
    this.#report += `${this.#report === '' ? '' : '\n'}${line}`;
    return undefined;
  }

  get report(): string {
    return this.#report;
  }
}

/** Returns the error for a report: an ApiError if the API server refused the request, or else one to show. */
export function refusalOf(report: string): Error {
  const unauthorized = /Unauthorized|provide credentials|getting credentials|no Auth Provider found/.exec(report);
  if (unauthorized) {
    return new CliError(
      `the cluster does not accept your login (${withoutPrefix(report)}). Sign in to the cluster again, or choose another --context`,
      EXIT.notSignedIn,
    );
  }
  const [, reason, message] = /^Error from server \((\w+)\): ([\s\S]*)/.exec(report) ?? [];
  if (reason !== undefined && message !== undefined) return apiError(reason, withoutFile(message));
  if (/^The \S+ ".*" is invalid/.test(report)) return apiError('Invalid', report);
  if (/doesn't have a resource type|could not find the requested resource/.test(report)) {
    return new CliError('Coppice is not installed in this cluster. Choose another cluster with --context');
  }
  if (/^(The connection to the server|Unable to connect)/.test(report)) {
    return new ClusterUnreachableError(
      `the cluster cannot be reached: ${report}. Check your network, the kubeconfig and --context`.replaceAll(
        '\n',
        ' ',
      ),
    );
  }
  return new CliError(`kubectl failed: ${report === '' ? 'it reported no reason' : withoutPrefix(report)}`);
}

function apiError(reason: string, message: string): ApiError {
  return new ApiError('kubectl', codes[reason] ?? 500, reason, message);
}

function withoutPrefix(report: string): string {
  return report.replace(/^(error|Error): */, '');
}

/** kubectl prepends the name of the file that it creates the object from. */
function withoutFile(message: string): string {
  return message.replace(/^error when creating "STDIN": /, '');
}

/** Returns the message of a refusal for the user. */
export function explained({ code, reason, statusMessage }: ApiError): string {
  if (code === 403) {
    const advice = 'Ask an administrator of the cluster, or use `coppice`, which asks the server instead';
    return `the cluster refuses this: ${statusMessage}. ${advice}`;
  }
  return code === 404 || code === 409 || code === 422
    ? statusMessage
    : `the cluster answered ${reason}: ${statusMessage}`;
}
