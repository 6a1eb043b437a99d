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
  /** The number of the build that a Job or a pod works on. */
  build: `${API_GROUP}/build`,
  /** What a Secret of the users' namespace records, such as `user`. */
  record: `${API_GROUP}/record`,
} as const;

export const MANAGED_BY = 'coppice';

export const ANNOTATIONS = {
  /** The UID of the object that a cluster-scoped or cross-namespace object was made for. */
  ownerUid: `${API_GROUP}/owner-uid`,
  /** The account that made a Group through the API, by its random id: it sees the group without a proven address. */
  createdBy: `${API_GROUP}/created-by`,
  /** The hash of what was last applied: with it an apply that would change nothing is skipped. */
  appliedHash: `${API_GROUP}/applied-hash`,
} as const;

/** Kept on every Coppice object until what was made for it is gone. */
export const FINALIZER = `${API_GROUP}/cleanup`;

/** Field managers of server-side apply, one per component. */
export const FIELD_MANAGERS = { operator: 'coppice-operator', api: 'coppice-api' } as const;
