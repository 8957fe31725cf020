/** Plugin `home`: holds the lock of the home. */

import type { HomePaths } from '../../home.ts'
import { definePlugin, type Plugin } from '../../ports/plugin.ts'
import { lockHome } from '../lock-home.ts'

export function home(paths: HomePaths, name: string): Plugin {
  let release = (): void => {}
  return definePlugin({
    name: 'home',
    needs: ['clock'],
    provides: ['home'],
    setup(host) {
      const lock = lockHome(paths, name, host.get('clock'))
      release = () => lock.release()
      host.provide('home', paths)
    },
    stop: () => release(),
  })
}
