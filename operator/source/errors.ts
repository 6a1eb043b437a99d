/** The Git host refused or has no such thing: the user must change something before it can work. */
export class SourceRefusedError extends Error {
  override readonly name = 'SourceRefusedError';
  readonly reason: 'AuthenticationFailed' | 'NotFound' | 'RefNotFound' | 'AddressRefused' | 'Refused';

  constructor(reason: SourceRefusedError['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** The Git host did not answer as it should; it may later. */
export class SourceUnreachableError extends Error {
  override readonly name = 'SourceUnreachableError';
}
