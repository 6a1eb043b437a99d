/** The API group and version that all of Coppice's kinds are served under. */
export const API_GROUP = 'coppice.dev';
const apiVersion = 'v1alpha1';
export const GROUP_VERSION = `${API_GROUP}/${apiVersion}`;

/** How the API server addresses a kind, in the shape that `kubernetes/` uses. */
export interface KindAddress {
  group: string;
  version: string;
  kind: string;
  plural: string;
  namespaced: boolean;
}

export function kindAddress(kind: string, plural: string, namespaced: boolean): KindAddress {
  return { group: API_GROUP, version: apiVersion, kind, plural, namespaced };
}
