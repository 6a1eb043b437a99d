/** What an administrator decides for all environments. */
export interface EnvironmentSettings {
  /** Environments answer at `<label>.<host>` of this. */
  environmentsUrl: URL;
  ingressClassName: string | undefined;
  /** The address that Coppice's image names begin with. */
  registry: string;
  rolloutDeadlineSeconds: number;
}
