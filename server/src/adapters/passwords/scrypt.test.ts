import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { scryptPasswords } from './scrypt.ts'

describe('a hash by scrypt', () => {
  const passwords = scryptPasswords()

  it('costs what is advised, says so, and fits its password alone', async () => {
    const hash = await passwords.hash('open sesame')
    assert.match(hash, /^scrypt\$32768\$8\$3\$[\w+/]{22}==\$[\w+/]{43}=$/)
    assert.deepEqual(await passwords.compare('open sesame', hash), { fits: true, isDated: false })
    assert.deepEqual(await passwords.compare('Open sesame', hash), { fits: false, isDated: false })
  })

  it('is dated once more is advised, and stays valid', async () => {
    const earlier = scryptPasswords({ N: 2 ** 14, r: 8, p: 1 })
    const hash = await earlier.hash('open sesame')
    assert.deepEqual(await earlier.compare('open sesame', hash), { fits: true, isDated: false })
    assert.deepEqual(await passwords.compare('open sesame', hash), { fits: true, isDated: true })
  })

  it('differs each time', async () => {
    const cheap = scryptPasswords({ N: 2 ** 10, r: 8, p: 1 })
    assert.notEqual(await cheap.hash('open sesame'), await cheap.hash('open sesame'))
  })
})
