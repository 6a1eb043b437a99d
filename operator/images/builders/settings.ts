import type { Scheduling } from '../../shared/scheduling.ts';

/** What an administrator decides for all builders. */
export interface BuilderPoolSettings {
  /** Where they live; nobody but the operator and administrators acts there. */
  namespace: string;
  /** An image with rootlesskit, buildkitd, buildctl, /bin/sh and flock, user 1000. */
  image: string;
  /** The name of the ConfigMap with buildkitd.toml; another content has another name. */
  configMap: string;
  /** Variables that name an HTTP proxy. */
  proxy?: Readonly<Record<string, string>> | undefined;
  resources: { requests?: Record<string, string>; limits?: Record<string, string> };
  scheduling?: Scheduling;
  /** Of the images that are built where a service names none: builders run on such nodes. */
  platform?: string | undefined;
  /** After so long without a build a group's builder is stopped; its cache stays. */
  idleSeconds: number;
  /** A builder that is not ready after this time fails the builds that wait for it. */
  startDeadlineSeconds: number;
  cache: { size: string; storageClass?: string | undefined };
  /** Builders of code that is not trusted: how many at once in the whole cluster, and what each may put on disk. */
  ephemeral: { maxConcurrent: number; storage: string };
}
