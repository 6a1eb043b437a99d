/** A Debian package that an image contains. */
export interface DebianPackage {
  name: string;
  version: string;
  architecture: string;
}

/** Reads the installed packages from dpkg's status file, sorted by name. */
export function installedPackages(status: string): DebianPackage[] {
  const packages = status.split('\n\n').flatMap((paragraph): DebianPackage[] => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(paragraph)?.[1];
    const [name, version, architecture] = [field('Package'), field('Version'), field('Architecture')];
    const isInstalled = field('Status')?.endsWith(' installed') === true;
    if (!isInstalled || name === undefined || version === undefined || architecture === undefined) return [];
    return [{ name, version, architecture }];
  });
  return packages.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}
