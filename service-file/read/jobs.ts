import type { Problems } from '../problems.ts';
import { quoted } from '../problems.ts';
import type { Dependency, Service } from '../schema.ts';
import { MAX_NAME_LENGTH } from './names.ts';
import type { LocatedJob } from './x-coppice.ts';

/**
 * Returns a service and its jobs as separate services: they run with its image, environment and mounts, sequentially,
 * after the service's dependencies and before the service. `volumes`: names in the model, by those in the file.
 * `taken`: names of services and aliases, to which the jobs' names are added.
 */
export function withJobs(
  service: Service,
  jobs: readonly LocatedJob[],
  volumes: ReadonlyMap<string, { name: string }>,
  taken: Set<string>,
  problems: Problems,
): Service[] {
  const made: Service[] = [];
  for (const job of jobs) {
    const name = `${service.name}-${job.name}`;
    if (name.length > MAX_NAME_LENGTH) {
      problems.error(job.at, `the name ${quoted(name)} is longer than ${MAX_NAME_LENGTH}: choose a shorter one`);
    } else if (taken.has(name)) {
      problems.error(job.at, `${quoted(name)} is the name of another service, job or alias: choose another`);
    }
    taken.add(name);
    const seeds = job.volume === undefined ? undefined : seededVolume(service, job, volumes, problems);
    const before = made.map((earlier): Dependency => ({ service: earlier.name, condition: 'completed' }));
    made.push(jobOf(service, { name, command: job.command, seeds, dependsOn: [...service.dependsOn, ...before] }));
  }
  const waits = made.map(({ name }): Dependency => ({ service: name, condition: 'completed' }));
  return [{ ...service, dependsOn: sorted([...service.dependsOn, ...waits]) }, ...made];
}

function jobOf(
  service: Service,
  { name, command, seeds, dependsOn }: Pick<Service, 'name' | 'command' | 'dependsOn'> & { seeds: string | undefined },
): Service {
  const job: Service = {
    ...service,
    name,
    imageOf: service.name,
    runs: seeds === undefined ? 'once' : 'once per volume',
    ...(seeds !== undefined && { seeds }),
    ...(command !== undefined && { command }),
    dependsOn: sorted(dependsOn),
    ports: [],
    udpPorts: [],
    aliases: [],
    replicas: 1,
  };
  delete job.build;
  delete job.image;
  delete job.healthcheck;
  return job;
}

function seededVolume(
  service: Service,
  { volume = '', at }: LocatedJob,
  volumes: ReadonlyMap<string, { name: string }>,
  problems: Problems,
): string | undefined {
  const name = volumes.get(volume)?.name;
  const isMounted = service.mounts.some((mount) => mount.type === 'volume' && mount.volume === name && !mount.readOnly);
  if (name !== undefined && isMounted) return name;
  return problems.error(
    at,
    `the service does not mount a volume ${quoted(volume)} that it can write to: mount it without ro`,
  );
}

function sorted(dependencies: readonly Dependency[]): Dependency[] {
  return [...dependencies].sort((a, b) => (a.service < b.service ? -1 : 1));
}
