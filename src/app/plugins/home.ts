/** Plugin `home`: holds the lock of the home, and notes where it is. */

import type { HomePaths } from '../../home.ts'
import { definePlugin, type Plugin } from '../../ports/plugin.ts'
import { noteRoot } from '../home-roots.ts'
import { lockHome } from '../lock-home.ts'

export function home(paths: HomePaths, name: string): Plugin {
  let release = (): void => {}
  return definePlugin({
    name: 'home',
    needs: ['clock'],
    provides: ['home', 'storedPaths'],
    setup(host) {
      const lock = lockHome(paths, name, host.get('clock'))
      release = () => lock.release()
      host.provide('home', paths)
      host.provide('storedPaths', noteRoot(paths))
    },
    stop: () => release(),
  })
}
