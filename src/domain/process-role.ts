/** What a process on a shared store does. */

/** `worker` runs dispatches, `scheduler` leads the kernel, `server` serves page and HTTP; `all` does everything. */
export const PROCESS_ROLES = ['all', 'worker', 'scheduler', 'server'] as const
export type ProcessRole = (typeof PROCESS_ROLES)[number]

export const runsDispatches = (role: ProcessRole): boolean => role === 'all' || role === 'worker'
