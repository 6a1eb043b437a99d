/** A variable of a group or repository. `buildtime`: only builds may see it (`build.args`, build secrets). */
export interface Variable {
  value: string;
  visibility: 'always' | 'buildtime';
  /** Its owner marked it as secret: it is masked whatever it looks like. */
  secret?: boolean;
}

/** By name, the repository's over its group's already. Values may be secret: no message, log or argument holds one. */
export type Variables = ReadonlyMap<string, Variable>;
