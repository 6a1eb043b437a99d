/** A variable of a group or repository. `buildtime`: only builds can read it (`build.args`, build secrets). */
export interface Variable {
  value: string;
  visibility: 'always' | 'buildtime';
  /** Whether its owner marked it as secret; it is then masked whatever it looks like. */
  secret?: boolean;
}

/**
 * Variables by name; those of the repository have already overridden those of its group. No message, log or argument
 * contains a value, which may be secret.
 */
export type Variables = ReadonlyMap<string, Variable>;
