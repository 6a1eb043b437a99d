import type { BuildLogMessage } from '../build-logs/message.ts';
import type {
  BuildView,
  EnvironmentView,
  GitRef,
  GroupItem,
  ListedEnvironment,
  ListedRepository,
  SpawnBody,
  SpawnedView,
  VariableView,
} from './api/types.ts';

/** Filters for the environments of a repository. The texts are the options of the same names. */
export interface EnvironmentFilter {
  state?: string | undefined;
  health?: string | undefined;
  text?: string | undefined;
  type?: GitRef['type'];
}

/** A request to an existing environment. */
export type EnvironmentRequest =
  | { name: 'build' | 'rebuild' | 'delete' | 'sleep' | 'wake' }
  | { name: 'create'; build: boolean; ttl?: number }
  | { name: 'ttl'; ttl: number }
  | { name: 'approve'; commit: string };

export type Kind = 'group' | 'repository' | 'environment';

/** The owner of variables; those of an environment are the ones in effect there. */
export interface VariablesOwner {
  kind: Kind;
  id: string;
}

export interface Variables {
  /** False for code that is not trusted: it gets none of them. */
  applies: boolean;
  variables: (VariableView & { from?: string })[];
}

/** An environment that was created, changed or deleted. */
export interface EnvironmentChange {
  id: string;
  now: ListedEnvironment | 'deleted';
}

/** A single environment, or all that the caller sees, of which `list` reads those of interest. */
export type WatchedEnvironments = { id: string } | { list: () => Promise<ListedEnvironment[]> };

export interface LogQuery {
  /** The log of this running service instead of that of a build. */
  service?: string | undefined;
  build?: number | undefined;
  tail?: number | undefined;
  follow: boolean;
}

/** A command to run in a container of a service, with the standard streams of this process. */
export interface ExecRequest {
  service: string;
  pod: string | undefined;
  /** Empty: a shell. */
  command: readonly string[];
  /** Whether the command runs at this process's terminal. */
  hasTerminal: boolean;
  hasInput: boolean;
}

/** A local port, 0 for a free one, and the port in the pod that it leads to. */
export interface ForwardedPort {
  local: number;
  remote: number;
}

export interface ForwardRequest {
  service: string;
  pod: string | undefined;
  ports: readonly ForwardedPort[];
}

/** Receives a log: messages, or plain lines if a whole build log is read. */
export interface LogReader {
  onMessage: (message: BuildLogMessage) => Promise<void>;
  onLine: (line: string) => Promise<void>;
  onReconnect: (why: string) => void;
}

/**
 * An installation of Coppice, used through its REST API or its custom resources. A resource that does not exist or that the
 * user cannot see leads to a RequestError with the status 404.
 */
export interface Installation {
  /** Its name in messages: the server's address, or the cluster. */
  readonly name: string;
  /** Returns the id of an object of the group whose namespace the options name; undefined if they name none. */
  idInNamespace(name: string): string | undefined;
  groups(): Promise<GroupItem[]>;
  repositories(): Promise<{ repositories: ListedRepository[]; isTruncated: boolean }>;
  environments(repository: string, filter: EnvironmentFilter): Promise<ListedEnvironment[]>;
  /** Reads an environment without starting a build. */
  environment(id: string, signal?: AbortSignal): Promise<EnvironmentView>;
  /**
   * Returns changes until the signal ends it, and continues after a lost connection. The state of a single environment
   * comes first, and what a list reads whenever changes may have been missed.
   */
  changes(watched: WatchedEnvironments, signal: AbortSignal): AsyncGenerator<EnvironmentChange>;
  /** Returns the build that a request started or joined; without one, the current build. */
  build(id: string, request: string | undefined): Promise<BuildView>;
  spawn(repository: string, body: SpawnBody): Promise<SpawnedView>;
  request(id: string, request: EnvironmentRequest): Promise<EnvironmentView>;
  /** Requests a sync of the refs of a repository. */
  sync(repository: string): Promise<void>;
  variables(owner: VariablesOwner): Promise<Variables>;
  readLog(id: string, query: LogQuery, reader: LogReader): Promise<void>;
  /** Runs a command in a container; returns its exit code. */
  exec(id: string, request: ExecRequest): Promise<number>;
  /** Forwards local ports until the process is ended. */
  forward(id: string, request: ForwardRequest): Promise<void>;
  /** Returns the last lines of a build's log, or where to read it; none if it is not kept. */
  endOfBuildLog(id: string, build: number | undefined, lines: number): Promise<string[]>;
  /** Returns the existing names, of which the most similar one is suggested for a mistyped name. */
  namesNear(kind: Kind, name: string): Promise<string[]>;
  /** Returns the ids of environments or repositories that contain a text. */
  idsWith(kind: 'repository' | 'environment', text: string, signal: AbortSignal): Promise<string[]>;
}
