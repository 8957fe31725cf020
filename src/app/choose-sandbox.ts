/** Chooses the sandbox of commands by configuration: bubblewrap, containers of the owner's image, or none. */

import { createContainers } from '../adapters/envs/container/container-sandbox.ts'
import { DEFAULT_RESOURCE_LIMITS, type ResourceLimits } from '../adapters/envs/host/resource-limits.ts'
import { createSandbox, type Sandbox, type SandboxOptions } from '../adapters/envs/sandbox/sandbox.ts'
import type { Config } from '../config.ts'

export function readLimits({ limits }: Config): ResourceLimits {
  const { processes, memory_mb, free_disk_mb } = limits
  const memoryBytes = memory_mb === null ? DEFAULT_RESOURCE_LIMITS.memoryBytes : memory_mb * 1024 ** 2
  return { processes, memoryBytes, freeDiskBytes: free_disk_mb * 1024 ** 2 }
}

export function createConfiguredSandbox(config: Config, options: SandboxOptions): Sandbox | undefined {
  if (config.sandbox === 'off') return undefined
  const { sandbox_image: image } = config
  return image === null ? createSandbox(options) : createContainers({ ...options, image })
}
