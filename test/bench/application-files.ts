import { globSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { REPOSITORY_ROOT } from '../support/paths.ts';

/** What makes the files of one step of one round. */
export interface ApplicationVersion {
  application: string;
  /** Whether the application has one more dependency, and uses it. */
  hasDependency: boolean;
  /** Text on the page: another one changes one line of the source. */
  text: string;
  /** Other rounds share no cached step and no cache mount. */
  round: string;
  /** Where the package cache listens. */
  packages: { address: string; port: number };
}

/** Contents by path. */
export type ApplicationFiles = Readonly<Record<string, string>>;

const applications = join(REPOSITORY_ROOT, 'test/fixtures/applications');

export function applicationFolder(name: string): string {
  return join(applications, name);
}

/** Returns the files of an application. */
export function applicationFiles(version: ApplicationVersion): ApplicationFiles {
  const { application, hasDependency, text, round, packages } = version;
  const words = new Map([
    ['@TEXT@', text],
    ['@ROUND@', round],
    ['@PACKAGES@', `http://${packages.address}:${packages.port}`],
    ['@HOST@', packages.address],
  ]);
  const folders = [application, ...(hasDependency ? [`${application}-dependency`] : [])].map(applicationFolder);
  const files = folders.flatMap((folder) =>
    globSync('**/*', { cwd: folder, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry): [string, string] => {
        const path = join(entry.parentPath, entry.name);
        const content = readFileSync(path, 'utf8').replace(/@[A-Z]+@/g, (word) => words.get(word) ?? word);
        return [path.slice(folder.length + 1), content];
      }),
  );
  return Object.fromEntries(files);
}

/** Writes the files that differ from those of `before` into a folder, as a developer changes them. */
export async function writeChanged(
  folder: string,
  files: ApplicationFiles,
  before: ApplicationFiles = {},
): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    if (before[path] === content) continue;
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  for (const path of Object.keys(before)) if (files[path] === undefined) await rm(join(folder, path));
}
