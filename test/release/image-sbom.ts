import type { SbomDocument } from '../supply-chain/sbom-document.ts';
import type { DebianPackage } from './debian-packages.ts';

export interface ImageContents {
  /** Name and digest of the image. */
  image: string;
  digest: string;
  version: string;
  node: string;
  debianRelease: string;
  packages: readonly DebianPackage[];
}

/**
 * Returns the CycloneDX document of an image: its npm packages, Node.js, and its Debian packages. It has no serial number
 * and no time, so that the same image has the same document.
 */
export function imageSbom(npm: SbomDocument, contents: ImageContents): SbomDocument {
  const { image, digest, version, node, debianRelease, packages } = contents;
  const own = npm.metadata.component['bom-ref'];
  const ref = `pkg:oci/${image}@${encodeURIComponent(digest)}`;
  const debian = packages.map(({ name, version: installed, architecture }) => {
    const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(installed)}?arch=${architecture}&distro=debian-${debianRelease}`;
    return { type: 'library', 'bom-ref': purl, name, version: installed, purl, hashes: [], licenses: [] };
  });
  const nodePurl = `pkg:generic/node@${node}`;
  const runtime = {
    type: 'platform',
    'bom-ref': nodePurl,
    name: 'node',
    version: node,
    purl: nodePurl,
    hashes: [],
    licenses: [],
  };
  const component = { type: 'container', 'bom-ref': ref, name: image, version, purl: ref };
  const application = { ...npm.metadata.component, hashes: [], licenses: [{ license: { id: 'Apache-2.0' } }] };
  return {
    ...npm,
    metadata: { ...npm.metadata, component },
    components: [{ name: image, version, ...application }, runtime, ...npm.components, ...debian],
    dependencies: [{ ref, dependsOn: [own, nodePurl, ...debian.map((one) => one['bom-ref'])] }, ...npm.dependencies],
  };
}
