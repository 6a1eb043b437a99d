import { API_GROUP } from './api-group.ts';

/** Labels on objects that Coppice creates, all of which have MANAGED_BY. */
export const LABELS = {
  managedBy: 'app.kubernetes.io/managed-by',
  /** Group of an object; on a namespace that an administrator created, the group that can adopt it. */
  group: `${API_GROUP}/group`,
  /** Name of the object's Environment, in its group's namespace. */
  environment: `${API_GROUP}/environment`,
  /** UID of the Environment: an object with another UID belongs to another Environment of the same name. */
  environmentUid: `${API_GROUP}/environment-uid`,
  /** Service of the service file that the object runs. */
  service: `${API_GROUP}/service`,
  /** Pods of a service without a network, to and from which no connections are permitted. */
  offline: `${API_GROUP}/offline`,
  /** Network policies of every environment's namespace, independent of its services. */
  isolation: `${API_GROUP}/isolation`,
  /** Number of the build of a Job or pod. */
  build: `${API_GROUP}/build`,
  /** Number of the build after which a Job or pod measures a volume. */
  measuredBuild: `${API_GROUP}/measured-build`,
  /** Jobs of builds of untrusted code. */
  untrusted: `${API_GROUP}/untrusted`,
  /** The ReusableEnvironment whose volume copy the object is, by name and UID. */
  reusable: `${API_GROUP}/reusable`,
  reusableUid: `${API_GROUP}/reusable-uid`,
  /** ID of a volume copy; `moving` is set on a PersistentVolume while it is moved between claims. */
  copy: `${API_GROUP}/copy`,
  moving: `${API_GROUP}/moving`,
  /** Name of the object's builder (operator/images/builders). */
  builder: `${API_GROUP}/builder`,
  /** What a Secret of the users' namespace stores, such as `user`. */
  record: `${API_GROUP}/record`,
} as const;

export const MANAGED_BY = 'coppice';

export const ANNOTATIONS = {
  /** UID of the object that a cluster-scoped or cross-namespace object was created for. */
  ownerUid: `${API_GROUP}/owner-uid`,
  /** Random ID of the account that created a Group through the API and sees it without a verified address. */
  createdBy: `${API_GROUP}/created-by`,
  /** ID of the REST request that created the object, or that requested the build of a Job. */
  requestId: `${API_GROUP}/rest-request-id`,
  /** On a Repository: who requested the last sync, an account ID or `webhook`. Only for the audit log. */
  syncRequestedBy: `${API_GROUP}/sync-requested-by`,
  /** On a Secret with credentials: the only server, as returned by repositoryServer(), that they are sent to. */
  credentialsFor: `${API_GROUP}/credentials-for`,
  /** Hash of what was last applied, so that an apply that would change nothing is skipped. */
  appliedHash: `${API_GROUP}/applied-hash`,
} as const;

/** Finalizer of every Coppice object until everything created for it is deleted. */
export const FINALIZER = `${API_GROUP}/cleanup`;

/** Field managers of server-side apply: one per component, and one per writer where two share an object. */
export const FIELD_MANAGERS = {
  operator: 'coppice-operator',
  feedback: 'coppice-feedback',
  volumes: 'coppice-volumes',
  tests: 'coppice-tests',
  api: 'coppice-api',
} as const;
