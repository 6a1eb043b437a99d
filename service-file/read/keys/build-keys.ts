import { keyTable } from './key-table.ts';

const ONE_BUILDER = "builds of many groups run on the cluster's own builders, which decide on this";

export const buildKeys = keyTable({
  of: 'build',
  path: 'services.*.build',
  supported: 'context dockerfile target args secrets platforms',
  ignored: {
    'cache_from cache_to': 'each group has a build cache of its own',
    isolation: 'it is for Windows containers',
    labels: 'the built images are not published',
    'no_cache no_cache_filter': 'ask for a rebuild to build without the cache',
    'provenance sbom': 'no attestations are made',
    pull: 'a base image that has moved is always noticed',
    'shm_size ulimits': ONE_BUILDER,
    tags: 'Coppice names the images that it builds',
  },
  refused: {
    additional_contexts: 'only the one context is sent to the builder: copy the files into it, or set it to the root',
    dockerfile_inline: 'write it into a file of the repository, and name that in dockerfile',
    entitlements: ONE_BUILDER,
    extra_hosts: ONE_BUILDER,
    network: ONE_BUILDER,
    privileged: 'a build gets no rights over the machine that it runs on',
    ssh: 'there is no SSH agent: give the key as a build secret',
  },
});
