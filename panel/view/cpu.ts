/** Returns CPU of cores as Kubernetes writes it, with a unit that people read: `30 mCPU`, `1.25 CPU`. */
export function cpuText(cores: number): string {
  return cores < 0.0995 ? `${Math.round(cores * 1000)} mCPU` : `${cores.toFixed(2)} CPU`;
}
