import type { Scheduling } from '../../shared/scheduling.ts';

/** An administrator's settings for all builders. */
export interface BuilderPoolSettings {
  /** Namespace of the builders, in which only the operator and administrators have permissions. */
  namespace: string;
  /** An image with rootlesskit, buildkitd, buildctl, /bin/sh and flock, user 1000. */
  image: string;
  /** Name of the ConfigMap with buildkitd.toml; it changes with its content. */
  configMap: string;
  /** Environment variables that configure an HTTP proxy. */
  proxy?: Readonly<Record<string, string>> | undefined;
  resources: { requests?: Record<string, string>; limits?: Record<string, string> };
  scheduling?: Scheduling;
  /** Platform of images for services that name none; builders run on nodes of this platform. */
  platform?: string | undefined;
  /** A group's builder is stopped after this time without a build, in seconds; its cache is kept. */
  idleSeconds: number;
  /** A builder that is not ready after this time, in seconds, fails the builds that wait for it. */
  startDeadlineSeconds: number;
  cache: { size: string; storageClass?: string | undefined };
  /** Builders of untrusted code: maximum number in the cluster, and disk size of each. */
  ephemeral: { maxConcurrent: number; storage: string };
}
