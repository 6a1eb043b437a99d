/** A variable of a group or repository. `buildtime`: only builds can read it (`build.args`, build secrets). */
export interface Variable {
  value: string;
  visibility: 'always' | 'buildtime';
  /** Whether its owner marked it as secret; it is then masked whatever it looks like. */
  secret?: boolean;
  /** Whether it contains the name of a Git ref, in which a shell may find a command. */
  fromRef?: boolean;
}

/**
 * Variables by name; those of the repository have already overridden those of its group. No message, log or argument
 * contains a value, which may be secret.
 */
export type Variables = ReadonlyMap<string, Variable>;

/** Where a variable is looked up by its name. */
export type VariableLookup = Pick<Variables, 'get' | 'has'>;

/** Returns variables that override others. */
export function overriding(variables: VariableLookup, others: VariableLookup): VariableLookup {
  return {
    get: (name) => variables.get(name) ?? others.get(name),
    has: (name) => variables.has(name) || others.has(name),
  };
}
