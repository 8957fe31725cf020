/** Whether this machine can run containers; tests that need one are skipped otherwise. */

import { type ContainerEngine, findContainerEngine } from '../../src/adapters/envs/container/find-container-engine.ts'

export const IMAGE = 'tireless-test'

const engine = await findContainerEngine(IMAGE, process.env)

export const ENGINE: ContainerEngine | undefined = 'why' in engine ? undefined : engine

/** A value for `skip`: false when containers work. */
export const WITHOUT_CONTAINERS: string | false =
  'why' in engine ? `no container on this machine: ${engine.why} (build the image with test/container/image.sh)` : false
