/** The error of one field in a refused request. */
export interface Detail {
  path: string;
  message: string;
}

/** A request that the API refused, or that did not reach it (`status` 0). */
export class RequestError extends Error {
  readonly status: number;
  readonly details: readonly Detail[];
  /** Seconds after which to try again, if the API names them. */
  readonly retryAfter: number | undefined;

  constructor(status: number, message: string, details: readonly Detail[] = [], retryAfter?: number, cause?: unknown) {
    super(message, { cause });
    this.name = 'RequestError';
    this.status = status;
    this.details = details;
    this.retryAfter = retryAfter;
  }

  /** Whether the session has ended or never existed. */
  get isOfSession(): boolean {
    return this.status === 400 || this.status === 401;
  }

  get isNotFound(): boolean {
    return this.status === 404;
  }
}

/** Returns a thrown value as a RequestError. */
export function asRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  return new RequestError(0, error instanceof Error ? error.message : String(error), [], undefined, error);
}

/** Returns one sentence that says what failed and what to do. */
export function sentenceOf({ status, message, retryAfter }: RequestError): string {
  const text = withoutRequests(withoutDetails(message.charAt(0).toUpperCase() + message.slice(1)));
  const sentence = /[.!?]$/.test(text) ? text : `${text}.`;
  if (status === 0) return 'The server did not answer. Check your connection, then try again.';
  if (status === 429 && retryAfter !== undefined) return `${sentence} Try again in ${retryAfter} s.`;
  if (status >= 500 && status !== 503) return `${sentence} Try again; if it fails again, ask an administrator.`;
  return sentence;
}

/** Leaves out where a response has its details, which the page shows. */
function withoutDetails(text: string): string {
  return text.replace(/,? for the reasons? in details/, '').replace(/ in details(?=\.|$)/, '');
}

/** Leaves out sentences about requests of the REST API, which the page has buttons for. */
function withoutRequests(text: string): string {
  const sentences = text.split(/(?<=[.!?]) (?=[A-Z])/);
  const others = sentences.filter((sentence) => !/\b(?:GET|POST|PUT|PATCH|DELETE)\b/.test(sentence));
  return others.length > 0 ? others.join(' ') : text;
}

/** Returns the error of a field; undefined if there is none. */
export function faultOf(error: RequestError | undefined, field: string): string | undefined {
  return error?.details.find(({ path }) => isOf(path, field))?.message;
}

/** Returns the details of an error that none of the fields shows. */
export function detailsBeside(error: RequestError, fields: ReadonlySet<string> = new Set()): readonly Detail[] {
  // A field shows the first of its errors.
  const shown = new Set([...fields].map((field) => error.details.find(({ path }) => isOf(path, field))));
  return error.details.filter((detail) => !shown.has(detail));
}

function isOf(path: string, field: string): boolean {
  return path === field || path.startsWith(`${field}.`);
}

/** Returns the error of a field as a sentence below it. */
export function shownFault(fault: string): string {
  return `${fault.charAt(0).toUpperCase()}${fault.slice(1)}${/[.!?]$/.test(fault) ? '' : '.'}`;
}
