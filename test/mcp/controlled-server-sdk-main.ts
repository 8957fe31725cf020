/** The controlled server as a process, built with the SDK: controlled-server-sdk-main.ts FOLDER */

import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { createBehaviour } from './controlled-server.ts'
import { createSdkServer } from './controlled-server-sdk.ts'

const behaviour = createBehaviour(process.argv[2] ?? '', () => process.exit(7))
behaviour.note(`started ${process.pid}`)
serveStdio(() => createSdkServer(behaviour))
