/** Whether containers can be tried on this machine: tests that need one are skipped by name where they cannot. */

import { type ContainerEngine, findContainerEngine } from '../../src/adapters/envs/container/find-container-engine.ts'

export const IMAGE = 'tireless-test'

const found = await findContainerEngine(IMAGE, process.env)

export const ENGINE: ContainerEngine | undefined = 'why' in found ? undefined : found

/** For `skip`: false where they can. */
export const WITHOUT_CONTAINERS: string | false =
  'why' in found ? `no container on this machine: ${found.why} (test/container/image.sh makes the image)` : false
