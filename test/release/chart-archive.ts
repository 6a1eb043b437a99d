import { copyFileSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parse, parseDocument } from 'yaml';
import { z } from 'zod';
import { run } from '../support/run.ts';
import { MEDIA_TYPES, sha256 } from './oci-registry.ts';

/** An image that the chart installs, by digest. */
export interface ChartImage {
  /** Path of its values, such as ['tester', 'image']. */
  value: readonly string[];
  /** Name with the registry, without a tag. */
  repository: string;
  digest: string;
}

/** Returns values.yaml with these images as defaults; comments stay. */
export function withImages(values: string, images: readonly ChartImage[]): string {
  const document = parseDocument(values);
  for (const { value, repository, digest } of images) {
    document.setIn([...value, 'repository'], repository);
    document.setIn([...value, 'digest'], digest);
  }
  return document.toString({ lineWidth: 0 });
}

/**
 * Writes the chart as an archive that Helm reads, with the images as its defaults. Names, times and owners in it do not
 * depend on who writes it, or when.
 * @param scratch an existing folder
 */
export async function archiveChart(
  source: string,
  images: readonly ChartImage[],
  epoch: number,
  scratch: string,
): Promise<Buffer> {
  const folder = join(scratch, 'coppice');
  rmSync(folder, { recursive: true, force: true });
  cpSync(join(source, 'charts/coppice'), folder, { recursive: true });
  for (const name of ['LICENSE', 'NOTICE']) copyFileSync(join(source, name), join(folder, name));
  const file = join(folder, 'values.yaml');
  writeFileSync(file, withImages(readFileSync(file, 'utf8'), images));
  const tar = join(scratch, 'coppice.tar');
  const same = ['--sort=name', '--format=ustar', '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX'];
  await run('tar', ['--create', ...same, `--mtime=@${epoch}`, '--file', tar, '--directory', scratch, 'coppice']);
  return gzipSync(readFileSync(tar), { level: 9 });
}

const chartSchema = z.looseObject({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  home: z.string(),
  sources: z.array(z.string()),
});

export interface ChartArtefact {
  config: Buffer;
  manifest: string;
}

/** Returns the chart as Helm stores it in a registry: the archive is the layer, Chart.yaml as JSON the configuration. */
export function chartArtefact(archive: Buffer, chartYaml: string): ChartArtefact {
  const chart = chartSchema.parse(parse(chartYaml));
  const config = Buffer.from(JSON.stringify(chart));
  const descriptor = (mediaType: string, bytes: Buffer) => ({
    mediaType,
    digest: `sha256:${sha256(bytes)}`,
    size: bytes.length,
  });
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.manifest,
    config: descriptor('application/vnd.cncf.helm.config.v1+json', config),
    layers: [descriptor('application/vnd.cncf.helm.chart.content.v1.tar+gzip', archive)],
    annotations: {
      'org.opencontainers.image.description': chart.description,
      'org.opencontainers.image.licenses': 'Apache-2.0',
      'org.opencontainers.image.source': chart.sources[0] ?? chart.home,
      'org.opencontainers.image.title': chart.name,
      'org.opencontainers.image.url': chart.home,
      'org.opencontainers.image.version': chart.version,
    },
  });
  return { config, manifest };
}
