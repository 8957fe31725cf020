/** Starts Chromium with its own profile, without downloads and service workers; it reaches the network by a proxy. */

import { join } from 'node:path'
import type { BrowserContext } from 'playwright-core'
import type { Egress, EgressProxy } from '../../../ports/egress.ts'

const FLAGS = [
  ...[
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
  ...[
    '--disable-domain-reliability',
    '--dns-prefetch-disable',
    '--disable-breakpad',
    '--no-pings',
    '--disable-dev-shm-usage',
  ],
  // Blocks traffic that would bypass the proxy: DNS lookups and UDP.
  ...[
    '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  ],
]

export interface BrowserLaunch {
  readonly egress: Egress
  /** Path of the Chromium program. */
  readonly chromium: string
  /** Folder for the profiles. A profile that is there when the runtime starts was left by a killed process. */
  readonly folder: string
  /** The complete environment of the Chromium process. */
  readonly env: Readonly<Record<string, string>>
  /** If true, Chromium runs without its own sandbox, which does not work for root. */
  readonly isRoot: boolean
}

/** `folder`: the only folder that Chromium writes to. */
export async function launchContext(
  { chromium: executablePath, folder: own, env, isRoot }: Omit<BrowserLaunch, 'egress'>,
  proxy: EgressProxy,
): Promise<BrowserContext> {
  // The module is loaded only when a browser is needed, because it is large.
  const { chromium } = await import('playwright-core')
  return chromium.launchPersistentContext(join(own, 'profile'), {
    ...{ executablePath, headless: true, chromiumSandbox: !isRoot, args: FLAGS, env: { ...env, HOME: own } },
    ...{ handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false, artifactsDir: join(own, 'artifacts') },
    proxy: {
      server: `http://127.0.0.1:${proxy.port}`,
      bypass: '<-loopback>',
      username: proxy.user,
      password: proxy.password,
    },
    acceptDownloads: false,
    serviceWorkers: 'block',
    locale: 'en-GB',
    viewport: { width: 1280, height: 900 },
  })
}
