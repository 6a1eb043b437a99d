import { keyTable } from './key-table.ts';

export const mountKeys = keyTable({
  of: 'a mount',
  path: 'services.*.volumes[]',
  supported: 'type source target read_only bind volume tmpfs',
  ignored: { consistency: 'it has an effect on macOS only' },
  refused: { image: 'images are not mounted: copy the files in a Dockerfile' },
});

export const bindKeys = keyTable({
  of: 'bind',
  path: 'services.*.volumes[].bind',
  supported: 'create_host_path',
  ignored: { 'propagation recursive selinux': 'the files come from the repository, not from the node' },
});

export const volumeOptionKeys = keyTable({
  of: 'volume',
  path: 'services.*.volumes[].volume',
  supported: 'subpath',
  ignored: { labels: 'volumes have no labels', nocopy: 'image contents are never copied' },
});

export const tmpfsKeys = keyTable({
  of: 'tmpfs',
  path: 'services.*.volumes[].tmpfs',
  supported: 'size',
  ignored: { mode: 'every user in the container can write to it' },
});
