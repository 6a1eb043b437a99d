import type { Pod } from '../../../kubernetes/resource-type.ts';
import type { Service } from '../../../service-file/schema.ts';
import { literal } from '../../shared/literal.ts';
import { imageOf, type WorkloadContext } from './input.ts';
import { mounts } from './mounts.ts';
import { probes } from './probes.ts';
import { resources } from './resources.ts';

export type Container = NonNullable<Pod['spec']>['containers'][number];

/** Returns a service's container, except for its lifecycle hooks. */
export function container(context: WorkloadContext, service: Service): Container {
  const publicPort = context.serviceFile.publicRoutes.find((route) => route.service === service.name)?.port;
  const { volumeMounts } = mounts(context, service);
  return {
    name: service.name,
    image: imageOf(context, service) ?? '',
    ...(service.entrypoint && { command: service.entrypoint.map(literal) }),
    ...(service.command && { args: service.command.map(literal) }),
    ...(service.workingDir !== undefined && { workingDir: service.workingDir }),
    env: Object.entries(service.environment).map(([name, value]) => ({ name, value: literal(value) })),
    ports: [
      ...service.ports.map((port) => ({ containerPort: port, protocol: 'TCP' })),
      ...service.udpPorts.map((port) => ({ containerPort: port, protocol: 'UDP' })),
    ],
    ...probes(service.healthcheck, publicPort),
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
