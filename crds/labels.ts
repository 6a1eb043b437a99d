import { API_GROUP } from './api-group.ts';

/** Labels on objects that Coppice makes. Everything it makes carries MANAGED_BY. */
export const LABELS = {
  managedBy: 'app.kubernetes.io/managed-by',
  /** The group an object belongs to; on a namespace that an administrator made, the group that may adopt it. */
  group: `${API_GROUP}/group`,
  /** The name of the Environment (in its group's namespace) that an object belongs to. */
  environment: `${API_GROUP}/environment`,
  /** The UID of the Environment: an object whose UID differs belongs to another one of the same name. */
  environmentUid: `${API_GROUP}/environment-uid`,
  /** The service of the service file that an object runs. */
  service: `${API_GROUP}/service`,
  /** On the pods of a service without any network: they reach nothing, and nothing reaches them. */
  offline: `${API_GROUP}/offline`,
  /** On the network policies that every environment's namespace has, whatever its services are. */
  fence: `${API_GROUP}/fence`,
  /** The number of the build that a Job or a pod works on. */
  build: `${API_GROUP}/build`,
  /** The number of the build after which a Job or a pod measures a volume. */
  measuredBuild: `${API_GROUP}/measured-build`,
  /** On the Job of a build of code that is not trusted. */
  untrusted: `${API_GROUP}/untrusted`,
  /** The ReusableEnvironment, in its group's namespace, whose copy of a volume an object is; and its UID. */
  reusable: `${API_GROUP}/reusable`,
  reusableUid: `${API_GROUP}/reusable-uid`,
  /** On what copies a volume, by the copy's id; and on a PersistentVolume while it goes from one claim to another. */
  copy: `${API_GROUP}/copy`,
  moving: `${API_GROUP}/moving`,
  /** The builder (operator/builders) that an object belongs to, by its name. */
  builder: `${API_GROUP}/builder`,
  /** What a Secret of the users' namespace records, such as `user`. */
  record: `${API_GROUP}/record`,
} as const;

export const MANAGED_BY = 'coppice';

export const ANNOTATIONS = {
  /** The UID of the object that a cluster-scoped or cross-namespace object was made for. */
  ownerUid: `${API_GROUP}/owner-uid`,
  /** The account that made a Group through the API, by its random id: it sees the group without a proven address. */
  createdBy: `${API_GROUP}/created-by`,
  /** On what a REST request made, and on the Job of a build that one asked for: the request's id. */
  requestId: `${API_GROUP}/rest-request-id`,
  /** On a Repository: who asked the API for the last sync, an account by its id, or `webhook`. For the audit log alone. */
  syncRequestedBy: `${API_GROUP}/sync-requested-by`,
  /** On a Secret with credentials: the server of repositoryServer() that they are for, and no other. */
  credentialsFor: `${API_GROUP}/credentials-for`,
  /** The hash of what was last applied: with it an apply that would change nothing is skipped. */
  appliedHash: `${API_GROUP}/applied-hash`,
} as const;

/** Kept on every Coppice object until what was made for it is gone. */
export const FINALIZER = `${API_GROUP}/cleanup`;

/** Field managers of server-side apply: one per component, and one per writer where two share an object. */
export const FIELD_MANAGERS = {
  operator: 'coppice-operator',
  feedback: 'coppice-feedback',
  volumes: 'coppice-volumes',
  tests: 'coppice-tests',
  api: 'coppice-api',
} as const;
