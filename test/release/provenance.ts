/** What a build has used, with its digest. */
export interface Material {
  uri: string;
  digest: Record<string, string>;
}

export interface ProvenanceInput {
  version: string;
  /** Path of the Dockerfile, or of the chart. */
  source: string;
  platforms: readonly string[];
  materials: readonly Material[];
  /** URI of who ran the build, such as the workflow of the host. */
  builder: string;
  /** URI of this run there. */
  invocation?: string | undefined;
}

/** Type of the builds of this repository: what `npm run release` does with these parameters. */
const buildType = 'https://coppice.dev/release/v1';

export const PROVENANCE_TYPE = 'https://slsa.dev/provenance/v1';

/** Returns the predicate of an in-toto statement: SLSA provenance, version 1. It contains no time, so that it is reproducible. */
export function provenance({ version, source, platforms, materials, builder, invocation }: ProvenanceInput): object {
  return {
    buildDefinition: {
      buildType,
      externalParameters: { version, source, platforms: [...platforms].sort() },
      internalParameters: {},
      resolvedDependencies: materials,
    },
    runDetails: {
      builder: { id: builder },
      metadata: invocation === undefined ? {} : { invocationId: invocation },
    },
  };
}
