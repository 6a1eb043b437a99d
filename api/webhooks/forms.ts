import type { RepositoryType } from '../../crds/repository-source.ts';
import type { DeliveryForm } from './delivery.ts';
import { cloudorgForm } from './forms/cloudorg.ts';
import { groupedhostForm } from './forms/groupedhost.ts';
import { ownerhostForm } from './forms/ownerhost.ts';
import { workspacehostForm } from './forms/workspacehost.ts';

/** Signature and format of the deliveries, by type of repository. */
export const DELIVERY_FORMS: Readonly<Record<RepositoryType, DeliveryForm>> = {
  generic: ownerhostForm,
  ownerhost: ownerhostForm,
  groupedhost: groupedhostForm,
  cloudorg: cloudorgForm,
  workspacehost: workspacehostForm,
};
