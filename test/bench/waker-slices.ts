import { SLICE_LABELS, SLICE_MANAGER } from '../../operator/services/objects/waker-slices.ts';

/** Selects the EndpointSlices with the waker's pods. */
export const WAKER_SLICES = `${SLICE_LABELS.managedBy}=${SLICE_MANAGER}`;
