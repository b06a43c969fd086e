import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Id, Type } from '../kit/schema.ts'
import { valuesMax } from '../plain/json.ts'
import { bodyOfFields, type FormField, urlencodedFields } from './forms.ts'

const schema = Type.Object({
  uid: Id(Type.String()),
  name: Type.Optional(Type.String()),
  isOpen: Type.Optional(Type.Boolean()),
  count: Type.Optional(Type.Integer()),
  tags: Type.Optional(Type.Array(Type.String())),
  uids: Type.Optional(Type.Array(Id(Type.String()))),
  members: Type.Optional(Type.Object({ admins: Type.Optional(Type.Array(Type.String())) })),
  metadata: Type.Optional(Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.String()])),
  data: Type.Optional(Type.Unknown()),
  places: Type.Optional(Type.Array(Type.Object({ uid: Type.Optional(Type.String()) }))),
})

const read = (text: string) => bodyOfFields(schema, urlencodedFields(text))

describe('a form', () => {
  it('says what its JSON twin says, by what the schema wants', () => {
    for (const [form, body] of [
      ['', {}],
      ['uid=12&name=12&count=12', { uid: '12', name: '12', count: 12 }],
      ['uid=1e3&count=1e3', { uid: '1e3', count: '1e3' }],
      ['isOpen=true', { isOpen: true }],
      ['isOpen=0', { isOpen: false }],
      ['isOpen=yes', { isOpen: 'yes' }],
      ['name=a+b%2Bc%20%F0%9F%98%80', { name: 'a b+c 😀' }],
      ['name', { name: '' }],
      ['name=%EF%BF%BD', { name: '\ufffd' }],
      ['name={"a":1}', { name: '{"a":1}' }],
      ['tags=["a","b"]', { tags: ['a', 'b'] }],
      ['tags=a&tags=b', { tags: ['a', 'b'] }],
      ['tags[]=a', { tags: ['a'] }],
      ['tags%5B1%5D=b&tags%5B0%5D=a', { tags: ['a', 'b'] }],
      ['tags[]=["a"]', { tags: ['["a"]'] }],
      ['tags=a', { tags: 'a' }],
      ['uids=[1,"2"]', { uids: [1, '2'] }],
      ['metadata={"a":null}', { metadata: { a: null } }],
      ['metadata[a][b]=1', { metadata: { a: { b: '1' } } }],
      ['data={"text":"hi"}', { data: { text: 'hi' } }],
      ['data[text]={"a":1}&data[list][]=x&data[list][]=y', { data: { text: '{"a":1}', list: ['x', 'y'] } }],
      ['data[files][0][url]=u', { data: { files: [{ url: 'u' }] } }],
      ['members[admins][]=a&members[admins][]=b', { members: { admins: ['a', 'b'] } }],
      ['places[0][uid]=7&places[1][uid]=8', { places: [{ uid: '7' }, { uid: '8' }] }],
    ] as const) {
      assert.deepEqual(read(form), body, form)
    }
  })

  it('that says something twice leaves it to the schema to refuse, and in two ways is refused', () => {
    assert.deepEqual(read('name=a&name=b'), { name: ['a', 'b'] })
    assert.deepEqual(read('tags[0]=a&tags[0]=b'), { tags: [['a', 'b']] })
    assert.throws(() => read('data={}&data[text]=hi'), {
      details: { data: ['must be sent in one way, as a whole or in parts'] },
    })
  })

  it('takes names that every object knows for names', () => {
    const body = read('__proto__[isOpen]=true&data[__proto__][x]=1&constructor=1')
    assert.equal(body.isOpen, undefined)
    assert.deepEqual(Object.keys(body), ['__proto__', 'data', 'constructor'])
    assert.deepEqual(Object.keys(body.data as object), ['__proto__'])
    assert.equal(({} as { x?: unknown }).x, undefined)
  })

  it('must be UTF-8', () => {
    for (const broken of ['name=%ff', 'name=%E4', '%ff=a', 'name=%', 'name=%zz']) {
      assert.throws(() => read(broken), { code: 'ERR_BAD_REQUEST' }, broken)
    }
  })

  it('holds no more than one JSON body could, in all its fields together', () => {
    const half = `[${Array.from({ length: valuesMax / 2 }, () => 1).join()}]`
    const over = [
      ['data', half],
      ['tags', half],
      ['metadata', '{"a":1}'],
    ] satisfies FormField[]
    assert.ok('data' in bodyOfFields(schema, over.slice(0, 1)))
    assert.throws(() => bodyOfFields(schema, over), { code: 'ERR_BAD_REQUEST' })
    assert.throws(() => read(Array.from({ length: valuesMax + 1 }, () => 'tags[]=a').join('&')), {
      code: 'ERR_BAD_REQUEST',
    })
    assert.throws(() => read(`data${'[a]'.repeat(100)}=1`), { code: 'ERR_BAD_REQUEST' })
  })
})
