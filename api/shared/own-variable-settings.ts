/** What the variables that Coppice sets contain of the installation. */
export interface OwnVariableSettings {
  /** URL below which environments are served. */
  environmentsUrl: URL;
  /** Address of the registry of built images. */
  registry: string;
}
