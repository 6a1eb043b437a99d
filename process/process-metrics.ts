import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import { z } from 'zod';

/** Registers the metrics of every process: prom-client's defaults, and the build of Coppice. */
export function processMetrics(registry: Registry, environment: NodeJS.ProcessEnv): void {
  collectDefaultMetrics({ register: registry });
  buildInfo(registry, environment);
}

/** Registers a metric with the build of Coppice; the image's build argument REVISION is its commit. */
export function buildInfo(registry: Registry, environment: NodeJS.ProcessEnv): void {
  const manifest: unknown = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'));
  const { version } = z.object({ version: z.string() }).parse(manifest);
  new Gauge({
    name: 'coppice_build_info',
    help: 'Always 1; the labels report the version and commit of Coppice and the version of Node',
    labelNames: ['version', 'revision', 'node_version'],
    registers: [registry],
  }).set({ version, revision: environment['COPPICE_REVISION'] ?? 'unknown', node_version: process.version }, 1);
}
