import { LABELS } from '../../../crds/labels.ts';
import type { Pod } from '../../../kubernetes/resource-type.ts';

/** One run of a container; a restart creates another instance. */
export interface Instance {
  namespace: string;
  pod: string;
  container: string;
  /** Identifies the run among all pods of the service. */
  source: string;
  isRunning: boolean;
}

/** Returns the runs of a service's containers that have started, including those that have ended. */
export function instancesOf(pods: readonly Pod[], service: string): Instance[] {
  return pods
    .filter(({ metadata }) => metadata.labels?.[LABELS.service] === service && !metadata.labels[LABELS.build])
    .flatMap(({ metadata, status }) =>
      (status?.containerStatuses ?? []).flatMap(({ name, state, containerID = '' }) => {
        if (containerID === '') return [];
        const source = `${metadata.name}/${containerID.split('/').at(-1)?.slice(0, 12) ?? ''}`;
        const isRunning = state?.running !== undefined;
        return [{ namespace: metadata.namespace ?? '', pod: metadata.name, container: name, source, isRunning }];
      }),
    );
}
