import { keyTable } from './key-table.ts';

const outside = 'external configs and secrets do not exist here: use file or environment';

export const topLevelKeys = keyTable({
  of: 'a service file',
  path: '',
  supported: 'services include networks volumes configs secrets x-coppice',
  ignored: {
    name: 'every environment has its own name',
    version: 'the Compose Specification no longer has versions',
  },
  refused: {
    models: 'Coppice runs no AI models: run a model server as a service of its own',
  },
});

export const includeKeys = keyTable({
  of: 'include',
  path: 'include[]',
  supported: 'path env_file project_directory',
});

export const networkKeys = keyTable({
  of: 'a network',
  path: 'networks.*',
  supported: 'driver external',
  ignored: {
    name: 'networks are not shared with other environments',
    'driver_opts ipam enable_ipv4 enable_ipv6': "the cluster's network decides on addresses",
    attachable: 'nothing else joins the networks of an environment',
    internal: 'the services can still reach the internet',
    labels: 'networks have no labels',
  },
});

export const volumeKeys = keyTable({
  of: 'a volume',
  path: 'volumes.*',
  supported: 'driver driver_opts external x-coppice',
  ignored: {
    name: 'volumes are not shared with other environments',
    labels: 'volumes have no labels',
  },
});

export const configKeys = keyTable({
  of: 'a config',
  path: 'configs.*',
  supported: 'file content environment',
  ignored: { name: 'configs are not shared with other environments', labels: 'configs have no labels' },
  refused: { external: outside, template_driver: 'templates are not supported: write the content itself' },
});

export const secretKeys = keyTable({
  of: 'a secret',
  path: 'secrets.*',
  supported: 'file environment',
  ignored: { name: 'secrets are not shared with other environments', labels: 'secrets have no labels' },
  refused: {
    external: outside,
    'driver driver_opts template_driver': 'drivers and templates are not supported: use file or environment',
  },
});
