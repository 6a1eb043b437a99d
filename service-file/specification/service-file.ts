import { z } from 'zod';
import { fileExtension, volumeExtension } from '../x-coppice.ts';
import { service } from './service.ts';
import { flag, integer, list, map, mapOf, named, text, texts, variables } from './values.ts';

/** `true`, or in an older form a map with a name. */
const external = z.union([flag, map('external', { name: text })]);

const network = map('a network', {
  attachable: flag,
  driver: text,
  driver_opts: mapOf(text),
  enable_ipv4: flag,
  enable_ipv6: flag,
  external,
  internal: flag,
  ipam: map('ipam', {
    config: list(map('a subnet', { aux_addresses: mapOf(text), gateway: text, ip_range: text, subnet: text })),
    driver: text,
    options: mapOf(text),
  }),
  labels: variables,
  name: text,
});

const volume = map('a volume', {
  driver: text,
  driver_opts: mapOf(text),
  external,
  labels: variables,
  name: text,
  'x-coppice': volumeExtension,
});

const content = { environment: text, external, file: text, labels: variables, name: text, template_driver: text };

/** Schema of a whole merged service file by the Compose Specification; `include` and `extends` are already resolved. */
export const serviceFile = map('a service file', {
  configs: named(map('a config', { ...content, content: text })),
  models: named(map('a model', { context_size: integer, model: text, name: text, runtime_flags: texts })),
  name: text,
  networks: named(network),
  secrets: named(map('a secret', { ...content, driver: text, driver_opts: mapOf(text) })),
  services: named(service),
  version: text,
  volumes: named(volume),
  'x-coppice': fileExtension,
});
