import { ANNOTATIONS, LABELS, MANAGED_BY } from '../../../crds/labels.ts';
import type { Job } from '../../../kubernetes/resource-type.ts';
import { RUNS_ONCE } from '../../shared/pod-parts.ts';
import { LEAVES_SOON, scheduled } from '../../shared/scheduling.ts';
import { BUILD_CREDENTIALS, buildctlContainer, cloneContainer, cloneVolumes, secretFiles } from './job-containers.ts';
import type { BuildJobInput } from './job-input.ts';
import { recordBuild, RECORD_ANNOTATION } from './resolved-build.ts';

/** Returns the Job's name from the build's number and try: requesting the same build again gives the same Job. */
export function buildJobName(number: number, attempt: number): string {
  return attempt === 0 ? `build-${number}` : `build-${number}-retry-${attempt}`;
}

/** Returns the Job of one build: a clone of each repository, and one buildctl container per image, which wait for its clone. */
export function buildJob(input: BuildJobInput): Job {
  const labels = {
    ...input.labels,
    [LABELS.managedBy]: MANAGED_BY,
    [LABELS.build]: String(input.number),
    ...(!input.trusted && { [LABELS.untrusted]: 'true' }),
  };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: buildJobName(input.number, input.attempt),
      namespace: input.namespace,
      labels,
      annotations: {
        [RECORD_ANNOTATION]: recordBuild(input.build),
        ...(input.requestId !== undefined && { [ANNOTATIONS.requestId]: input.requestId }),
      },
    },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: input.settings.deadlineSeconds,
      ttlSecondsAfterFinished: 3600,
      template: {
        metadata: { labels },
        spec: {
          ...RUNS_ONCE,
          ...scheduled(input.settings.scheduling, { tolerations: LEAVES_SOON }),
          terminationGracePeriodSeconds: 5,
          securityContext: {
            runAsUser: 1000,
            runAsGroup: 1000,
            runAsNonRoot: true,
            fsGroup: 1000,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          containers: [
            ...input.clones.map((clone, index) => cloneContainer(clone, index, input)),
            ...input.missing.map((image, index) => buildctlContainer(image, index, input)),
          ],
          volumes: [
            ...input.clones.flatMap((clone, index) => cloneVolumes(clone, index)),
            { name: 'tmp', emptyDir: { sizeLimit: '1Gi' } },
            { name: 'builder', secret: { secretName: BUILD_CREDENTIALS, defaultMode: 0o440 } },
            ...input.missing
              .flatMap(({ image }, index) => secretFiles(image, index, input))
              .map(({ volume }) => volume),
          ],
        },
      },
    },
  };
}
