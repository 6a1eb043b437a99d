import { keyTable } from './key-table.ts';

export const mountKeys = keyTable({
  of: 'a mount',
  path: 'services.*.volumes[]',
  supported: 'type source target read_only bind volume tmpfs',
  ignored: { consistency: 'it means something on a Mac only' },
  refused: { image: 'images are not mounted: copy the files in a Dockerfile' },
});

export const bindKeys = keyTable({
  of: 'bind',
  path: 'services.*.volumes[].bind',
  supported: 'create_host_path',
  ignored: { 'propagation recursive selinux': 'the files come from the repository, not from a folder of the machine' },
});

export const volumeOptionKeys = keyTable({
  of: 'volume',
  path: 'services.*.volumes[].volume',
  supported: 'subpath',
  ignored: { labels: 'volumes have no labels', nocopy: 'what the image has there is not copied anyway' },
});

export const tmpfsKeys = keyTable({
  of: 'tmpfs',
  path: 'services.*.volumes[].tmpfs',
  supported: 'size',
  ignored: { mode: 'everybody in the container may write to it' },
});
