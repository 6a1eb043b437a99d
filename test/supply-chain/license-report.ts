import { z } from 'zod';
import { isAllowed } from './license-expression.ts';
import type { Lock } from './sbom-document.ts';

/** Where a package is used. If it has several uses, the first in this list counts. */
export const USES = ['image', 'bundle', 'tester', 'development'] as const;
export type Use = (typeof USES)[number];

export interface LicensedPackage {
  name: string;
  version: string;
  /** SPDX expression; '' if the package names none. */
  license: string;
  use: Use;
}

export const allowlistSchema = z.strictObject({
  /** SPDX identifiers for packages that are distributed: in images, or compiled into the panel or the command line. */
  distributed: z.array(z.string()),
  /** Further ones for packages that only development and tests use. */
  development: z.array(z.string()),
  /** Packages whose metadata names no SPDX identifier, with what their text says. */
  exceptions: z.array(z.strictObject({ package: z.string(), license: z.string(), reason: z.string().min(20) })),
});
export type Allowlist = z.infer<typeof allowlistSchema>;

const nameAt = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/**
 * Returns each locked package once, sorted by name and version.
 * @param bundled paths in the lock file of packages that are compiled into the panel or the command line
 */
export function packagesOf({ packages }: Lock, bundled: ReadonlySet<string>): LicensedPackage[] {
  const found = new Map<string, LicensedPackage>();
  for (const [path, { version = '', license = '', dev, optional }] of Object.entries(packages)) {
    if (path === '') continue;
    const use = bundled.has(path) && dev === true ? 'bundle' : dev ? 'development' : optional ? 'tester' : 'image';
    const name = nameAt(path);
    const known = found.get(`${name}@${version}`);
    if (known && USES.indexOf(known.use) <= USES.indexOf(use)) continue;
    found.set(`${name}@${version}`, { name, version, license, use });
  }
  const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return [...found.values()].sort((a, b) => compare(a.name, b.name) || compare(a.version, b.version));
}

/** Returns the packages whose license is not on the list, and the entries of the list that no package needs. */
export function licenseProblems(packages: readonly LicensedPackage[], allowlist: Allowlist): string[] {
  const distributed = new Set(allowlist.distributed);
  const development = new Set([...distributed, ...allowlist.development]);
  const exceptions = new Map(allowlist.exceptions.map((exception) => [exception.package, exception]));
  const problems: string[] = [];
  for (const { name, version, license, use } of packages) {
    const excepted = exceptions.get(`${name}@${version}`);
    exceptions.delete(`${name}@${version}`);
    const allowed = use === 'development' ? development : distributed;
    if (isAllowed(excepted?.license ?? license, allowed)) continue;
    problems.push(`${name}@${version} (${use}) has the license "${license}", which is not on the list for its use`);
  }
  const used = new Set(packages.flatMap(({ license }) => license.match(/[^\s()]+/g) ?? []));
  for (const name of [...distributed, ...allowlist.development]) {
    if (!used.has(name)) problems.push(`no package has the allowed license ${name}. Remove it from the list`);
  }
  for (const name of exceptions.keys()) problems.push(`no package needs the exception ${name}. Remove it`);
  return problems;
}

const titles: Record<Use, string> = {
  image: 'In the image `coppice`',
  bundle: 'Compiled into the panel or the command line',
  tester: 'Only in the image `coppice-tester`',
  development: 'Only for development and tests, not distributed',
};

/** Returns the page that lists all packages by their use, as Markdown. */
export function licensesPage(packages: readonly LicensedPackage[]): string {
  const parts = USES.map((use) => {
    const rows = packages.filter((one) => one.use === use);
    const lines = rows.map(({ name, version, license }) => `| ${name} | ${version} | ${license} |`);
    return `## ${titles[use]}\n\n| package | version | license |\n|---|---|---|\n${lines.join('\n')}\n`;
  });
  return [
    '<!-- Generated from package-lock.json by `npm run generate`; do not edit. -->',
    '# Licenses of npm packages',
    'Coppice itself is licensed under the [Apache License 2.0](LICENSE).',
    ...parts,
  ].join('\n\n');
}
