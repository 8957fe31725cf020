/** What commands run in, as the configuration says: bubblewrap, containers of an image of the owner's, or nothing. */

import { createContainers } from '../adapters/envs/container/container.ts'
import { createSandbox, type Sandbox, type SandboxOptions } from '../adapters/envs/sandbox/sandbox.ts'
import type { Config } from '../config.ts'

export function sandboxFor(config: Config, options: SandboxOptions): Sandbox | undefined {
  if (config.sandbox === 'off') return undefined
  const { sandbox_image: image } = config
  return image === null ? createSandbox(options) : createContainers({ ...options, image })
}
