import { z } from 'zod';

const documentSchema = z.looseObject({
  bomFormat: z.literal('CycloneDX'),
  serialNumber: z.string().optional(),
  metadata: z.looseObject({ timestamp: z.string().optional(), component: z.looseObject({ 'bom-ref': z.string() }) }),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()).default([]) })),
  components: z.array(
    z.looseObject({
      name: z.string(),
      version: z.string(),
      hashes: z.array(z.looseObject({ alg: z.string(), content: z.string() })).default([]),
      licenses: z.array(z.looseObject({})).default([]),
    }),
  ),
});
export type SbomDocument = z.infer<typeof documentSchema>;

export const lockSchema = z.looseObject({
  packages: z.record(
    z.string(),
    z.looseObject({
      version: z.string().optional(),
      dev: z.boolean().optional(),
      optional: z.boolean().optional(),
      license: z.string().optional(),
    }),
  ),
});
export type Lock = z.infer<typeof lockSchema>;

export interface RuntimeOptions {
  /** Whether optional packages run, as in the tester. */
  hasOptional: boolean;
}

/** Returns the packages of the lock file that run: `name@version`. */
function running({ packages }: Lock, { hasOptional }: RuntimeOptions): Set<string> {
  return new Set(
    Object.entries(packages).flatMap(([path, { version, dev, optional }]) => {
      if (path === '' || dev === true || (optional === true && !hasOptional)) return [];
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      return [`${name}@${version ?? ''}`];
    }),
  );
}

const nameOf = ({ name, version }: { name: string; version: string }) => `${name}@${version}`;

/**
 * Returns npm's SBOM with only the packages that run according to the lock file: npm's `--omit dev` also omits packages
 * that development needs too. Removes what differs between runs: serial number, time, and the folder's name.
 */
export function runtimeDocument(
  text: string,
  lock: Lock,
  options: RuntimeOptions = { hasOptional: false },
): SbomDocument {
  const document = documentSchema.parse(JSON.parse(text));
  const kept = running(lock, options);
  const isKept = (ref: string) => kept.has(ref) || ref === document.metadata.component['bom-ref'];
  return {
    ...document,
    serialNumber: undefined,
    metadata: {
      ...document.metadata,
      timestamp: undefined,
      component: { ...document.metadata.component, name: 'coppice' },
    },
    components: document.components.filter((component) => kept.has(nameOf(component))),
    dependencies: document.dependencies
      .filter(({ ref }) => isKept(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isKept) })),
  };
}

/** Returns the locked packages that run and are missing from the document, and components without hash or license. */
export function missingFrom({ components }: SbomDocument, lock: Lock): string[] {
  const listed = new Map(components.map((component) => [nameOf(component), component]));
  return [...running(lock, { hasOptional: false })].flatMap((name) => {
    const component = listed.get(name);
    if (!component) return [`${name} is locked, and not in the SBOM`];
    const lacking = [component.hashes.length === 0 && 'hash', component.licenses.length === 0 && 'licence'];
    return lacking.flatMap((what) => (what === false ? [] : [`${name} has no ${what}`]));
  });
}
