import type { Pod } from '../../../kubernetes/resource-type.ts';
import type { Service } from '../../../service-file/schema.ts';
import { environmentOf, expandedWords } from './hidden-values.ts';
import { imageOf, type WorkloadContext } from './input.ts';
import { mounts } from './mounts.ts';
import { probes } from './probes.ts';
import { resources } from './resources.ts';

export type Container = NonNullable<Pod['spec']>['containers'][number];

/** Returns a service's container, except for its lifecycle hooks. */
export function container(context: WorkloadContext, service: Service): Container {
  const publicPort = context.serviceFile.publicRoutes.find((route) => route.service === service.name)?.port;
  const { volumeMounts } = mounts(context, service);
  const hidden = context.hidden.get(service.name);
  return {
    name: service.name,
    image: imageOf(context, service) ?? '',
    ...(service.entrypoint && { command: expandedWords(service.entrypoint, hidden) }),
    ...(service.command && { args: expandedWords(service.command, hidden) }),
    ...(service.workingDir !== undefined && { workingDir: service.workingDir }),
    env: environmentOf(service, hidden, context.own),
    ports: [
      ...service.ports.map((port) => ({ containerPort: port, protocol: 'TCP' })),
      ...service.udpPorts.map((port) => ({ containerPort: port, protocol: 'UDP' })),
    ],
    ...probes(service.healthcheck, publicPort, hidden),
    resources: resources(service, context.settings),
    ...(volumeMounts.length > 0 && { volumeMounts }),
    ...(service.tty && { tty: true }),
    ...(service.stdin && { stdin: true }),
    securityContext: {
      allowPrivilegeEscalation: false,
      ...(service.readOnly && { readOnlyRootFilesystem: true }),
      ...capabilities(service),
    },
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
}

function capabilities({ capAdd: add, capDrop: drop }: Service) {
  if (add.length === 0 && drop.length === 0) return {};
  return { capabilities: { ...(add.length > 0 && { add }), ...(drop.length > 0 && { drop }) } };
}
