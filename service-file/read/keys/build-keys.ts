import { keyTable } from './key-table.ts';

const oneBuilder = 'builders are shared, so a service file cannot set it';

export const buildKeys = keyTable({
  of: 'build',
  path: 'services.*.build',
  supported: 'context dockerfile target args secrets platforms',
  ignored: {
    'cache_from cache_to': 'each group has a build cache of its own',
    isolation: 'it is for Windows containers',
    labels: 'the built images are not published',
    'no_cache no_cache_filter': 'request a rebuild to build without the cache',
    'provenance sbom': 'no attestations are created',
    pull: 'each build checks for newer base images',
    'shm_size ulimits': oneBuilder,
    tags: 'Coppice names the images that it builds',
  },
  refused: {
    additional_contexts:
      'only the context is sent to the builder: move the files into it, or set it to the root of the repository',
    dockerfile_inline: 'write it into a file of the repository, and name that in dockerfile',
    entitlements: oneBuilder,
    extra_hosts: oneBuilder,
    network: oneBuilder,
    privileged: 'builds are not privileged',
    ssh: 'there is no SSH agent: give the key as a build secret',
  },
});
