import { keyTable } from './key-table.ts';

export const coppiceKeys = keyTable({
  of: "a service's x-coppice",
  path: 'services.*.x-coppice',
  supported: 'public healthcheck jobs seed watch',
});

export const coppiceFileKeys = keyTable({
  of: "the file's x-coppice",
  path: 'x-coppice',
  supported: 'reusable from repositories tests',
});

export const includedRepositoryKeys = keyTable({
  of: 'an included repository',
  path: 'x-coppice.repositories[]',
  supported: 'name fallback alias',
});

export const testKeys = keyTable({
  of: 'a test',
  path: 'x-coppice.tests[]',
  supported: 'name type params',
});

export const publicKeys = keyTable({
  of: 'a public route',
  path: 'services.*.x-coppice.public[]',
  supported: 'port path alias',
});

export const httpHealthcheckKeys = keyTable({
  of: "x-coppice's health check",
  path: 'services.*.x-coppice.healthcheck',
  supported: 'path port interval timeout retries start_period',
});

export const jobKeys = keyTable({
  of: 'a job',
  path: 'services.*.x-coppice.jobs[]',
  supported: 'name command',
});

export const seedKeys = keyTable({
  of: 'a seed',
  path: 'services.*.x-coppice.seed',
  supported: 'volume command',
});

export const coppiceVolumeKeys = keyTable({
  of: "a volume's x-coppice",
  path: 'volumes.*.x-coppice',
  supported: 'size class',
});
