import type { CommentLocation, CommitStatus } from '../../source/hosts/host.ts';

/** One report to the Git host. `hash`: hash of its content, to detect changes. */
export type Step =
  | { kind: 'status' | 'tests'; commit: string; status: CommitStatus; hash: string }
  | { kind: 'comment'; location: CommentLocation; body: string; hash: string };
