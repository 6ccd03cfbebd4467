"""Cases for boto3 with its default settings. Prints a line of JSON for each: {"case": ..., "error": null or text}."""

import concurrent.futures
import hashlib
import io
import json
import os
import socket
import ssl
import traceback
import urllib.request


import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError

MIB = 1024 * 1024
BUCKET = "boto"
HOSTED = os.environ["HOST_BUCKET"]
S3_URL = os.environ["S3_URL"]

s3 = boto3.client("s3")
CASES = []


def case(sentence):
    def add(function):
        CASES.append((sentence, function))
        return function

    return add


def refused(call, status, code):
    try:
        call()
    except ClientError as error:
        found = (error.response["ResponseMetadata"]["HTTPStatusCode"], error.response["Error"]["Code"])
        assert found == (status, code), f"{found} in place of {(status, code)}: {error}"
        return error.response
    raise AssertionError(f"not refused: {code}")


def with_keys(access_key_id):
    return boto3.client("s3", aws_access_key_id=access_key_id, aws_secret_access_key="x" * 40)


def pattern(size, seed=1):
    block = hashlib.sha512(str(seed).encode()).digest()
    return (block * (size // len(block) + 1))[:size]


@case("a bucket is created, and waited for")
def _():
    s3.create_bucket(Bucket=BUCKET)
    s3.get_waiter("bucket_exists").wait(Bucket=BUCKET)
    assert BUCKET in [one["Name"] for one in s3.list_buckets()["Buckets"]]


@case("bytes, files and streams are stored")
def _():
    data = pattern(3 * MIB)
    tag = '"' + hashlib.md5(data).hexdigest() + '"'
    assert s3.put_object(Bucket=BUCKET, Key="bytes", Body=data)["ETag"] == tag
    assert s3.put_object(Bucket=BUCKET, Key="file", Body=io.BytesIO(data))["ETag"] == tag
    assert s3.put_object(Bucket=BUCKET, Key="empty", Body=b"")["ETag"] == '"' + hashlib.md5().hexdigest() + '"'
    for key, expected in [("bytes", data), ("file", data), ("empty", b"")]:
        assert s3.get_object(Bucket=BUCKET, Key=key)["Body"].read() == expected


@case("an empty object does not disturb the next one on its connection")
def _():
    if os.environ.get("KVDRIVE_S3_PEER") and S3_URL.startswith("http:"):
        return
    single = boto3.client("s3", config=Config(max_pool_connections=1, read_timeout=20, retries={"total_max_attempts": 1}))
    for number in range(3):
        single.put_object(Bucket=BUCKET, Key="empty", Body=b"")
        single.put_object(Bucket=BUCKET, Key="next", Body=str(number).encode())
    assert single.get_object(Bucket=BUCKET, Key="next")["Body"].read() == b"2"


@case("large files are sent in parts at the same time, and read in ranges")
def _():
    data = pattern(70 * MIB + 5, 2)
    config = TransferConfig(multipart_threshold=8 * MIB, multipart_chunksize=16 * MIB)
    s3.upload_fileobj(io.BytesIO(data), BUCKET, "large", Config=config, ExtraArgs={"Metadata": {"a": "b"}})
    into = io.BytesIO()
    s3.download_fileobj(BUCKET, "large", into)
    assert into.getvalue() == data
    head = s3.head_object(Bucket=BUCKET, Key="large", ChecksumMode="ENABLED")
    assert head["ETag"].endswith('-5"') and head["Metadata"] == {"a": "b"}
    assert head["ChecksumType"] in ("FULL_OBJECT", "COMPOSITE"), head


@case("the checksum of each answer is checked")
def _():
    for algorithm in ["CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"]:
        try:
            s3.put_object(Bucket=BUCKET, Key=algorithm, Body=b"text", ChecksumAlgorithm=algorithm)
        except Exception as error:
            # Some need a library that is not installed.
            if "MissingDependency" in type(error).__name__ or "awscrt" in str(error):
                continue
            raise
        answer = s3.get_object(Bucket=BUCKET, Key=algorithm, ChecksumMode="ENABLED")
        assert answer["Body"].read() == b"text"
        assert answer["Checksum" + algorithm]


@case("metadata and headers are kept")
def _():
    kept = dict(
        ContentType="text/x",
        ContentDisposition="inline",
        ContentEncoding="x-test",
        ContentLanguage="de",
        CacheControl="no-cache",
        Metadata={"key": "a value", "other-key": "2"},
    )
    s3.put_object(Bucket=BUCKET, Key="metadata", Body=b"", **kept)
    head = s3.head_object(Bucket=BUCKET, Key="metadata")
    for name, value in kept.items():
        assert head[name] == value, (name, head[name])


@case("keys of every kind are listed, in pages")
def _():
    keys = ["a b", "a+b", "a%2Fb", "é", "日本", "🦖", "<&>\"'", "x/y/z", "x//z", "q?x=1#y"]
    if os.environ.get("KVDRIVE_S3_PEER"):
        keys.remove("x//z")
    for key in keys:
        s3.put_object(Bucket=BUCKET, Key="keys/" + key, Body=key.encode())
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix="keys/", PaginationConfig={"PageSize": 3})
    listed = [one["Key"] for page in pages for one in page.get("Contents", [])]
    assert listed == sorted(("keys/" + key for key in keys), key=lambda key: key.encode()), listed
    for key in keys:
        assert s3.get_object(Bucket=BUCKET, Key="keys/" + key)["Body"].read() == key.encode()
    old = s3.get_paginator("list_objects").paginate(Bucket=BUCKET, Prefix="keys/", Delimiter="/")
    assert "keys/x/" in [one["Prefix"] for page in old for one in page.get("CommonPrefixes", [])]


@case("conditions")
def _():
    etag = s3.put_object(Bucket=BUCKET, Key="condition", Body=b"1")["ETag"]
    refused(lambda: s3.put_object(Bucket=BUCKET, Key="condition", Body=b"2", IfNoneMatch="*"), 412, "PreconditionFailed")
    s3.put_object(Bucket=BUCKET, Key="condition", Body=b"2", IfMatch=etag)
    refused(lambda: s3.put_object(Bucket=BUCKET, Key="condition", Body=b"3", IfMatch=etag), 412, "PreconditionFailed")
    refused(lambda: s3.get_object(Bucket=BUCKET, Key="condition", IfMatch=etag), 412, "PreconditionFailed")


@case("objects are copied, also in place")
def _():
    source = {"Bucket": BUCKET, "Key": "keys/a+b"}
    s3.copy_object(Bucket=BUCKET, Key="copied", CopySource=source)
    s3.copy_object(
        Bucket=BUCKET,
        Key="copied",
        CopySource={"Bucket": BUCKET, "Key": "copied"},
        MetadataDirective="REPLACE",
        Metadata={"new": "1"},
    )
    assert s3.head_object(Bucket=BUCKET, Key="copied")["Metadata"] == {"new": "1"}
    s3.copy({"Bucket": BUCKET, "Key": "large"}, BUCKET, "large copy", Config=TransferConfig(multipart_threshold=8 * MIB))
    assert s3.head_object(Bucket=BUCKET, Key="large copy")["ContentLength"] == 70 * MIB + 5


@case("presigned addresses and forms")
def _():
    def trusting():
        return ssl.create_default_context(cafile=os.environ.get("AWS_CA_BUNDLE"))

    url = s3.generate_presigned_url("get_object", Params={"Bucket": BUCKET, "Key": "keys/a b"}, ExpiresIn=60)
    handler = urllib.request.HTTPSHandler(context=trusting())
    opener = urllib.request.build_opener(handler)
    assert opener.open(url).read() == b"a b"
    signed = boto3.client("s3", config=Config(signature_version="s3v4"))
    url = signed.generate_presigned_url("put_object", Params={"Bucket": BUCKET, "Key": "presigned"}, ExpiresIn=60)
    opener.open(urllib.request.Request(url, data=b"put", method="PUT")).read()
    assert s3.get_object(Bucket=BUCKET, Key="presigned")["Body"].read() == b"put"
    form = signed.generate_presigned_post(BUCKET, "posted", Conditions=[["content-length-range", 1, 100]])
    boundary = "boundary7"
    fields = list(form["fields"].items())
    parts = [f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields]
    parts.append(f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nposted\r\n--{boundary}--\r\n')
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    opener.open(urllib.request.Request(form["url"], data="".join(parts).encode(), headers=headers)).read()
    assert s3.get_object(Bucket=BUCKET, Key="posted")["Body"].read() == b"posted"


@case("a wrong secret and an unknown key are refused")
def _():
    wrong = with_keys(os.environ["AWS_ACCESS_KEY_ID"])
    refused(lambda: wrong.put_object(Bucket=BUCKET, Key="wrong", Body=b"x"), 403, "SignatureDoesNotMatch")
    unknown = with_keys("KV000000000000000000")
    refused(lambda: unknown.list_buckets(), 403, "InvalidAccessKeyId")
    refused(lambda: s3.get_object(Bucket=BUCKET, Key="wrong"), 404, "NoSuchKey")


@case("many calls at the same time")
def _():
    client = boto3.client("s3", config=Config(max_pool_connections=32))
    put = lambda i: client.put_object(Bucket=BUCKET, Key=f"many/{i:03}", Body=str(i).encode())
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        list(pool.map(put, range(200)))
    keys = [one["Key"] for one in client.list_objects_v2(Bucket=BUCKET, Prefix="many/")["Contents"]]
    assert len(keys) == 200
    answer = client.delete_objects(Bucket=BUCKET, Delete={"Objects": [{"Key": key} for key in keys]})
    assert len(answer["Deleted"]) == 200 and "Errors" not in answer
    assert client.list_objects_v2(Bucket=BUCKET, Prefix="many/")["KeyCount"] == 0


@case("buckets as resources, and their removal")
def _():
    bucket = boto3.resource("s3").Bucket(BUCKET)
    assert bucket.Object("copied").get()["Body"].read() == b"a+b"
    assert boto3.resource("s3").BucketVersioning(BUCKET).status is None
    bucket.objects.all().delete()
    bucket.multipart_uploads.all()
    bucket.delete()
    refused(lambda: s3.head_bucket(Bucket=BUCKET), 404, "404")


@case("the bucket is in the name of the host, over https")
def _():
    if not S3_URL.startswith("https:"):
        return
    original = socket.getaddrinfo
    socket.getaddrinfo = lambda host, *rest: original("127.0.0.1", *rest)
    try:
        hosted = boto3.client("s3", config=Config(s3={"addressing_style": "virtual"}))
        hosted.create_bucket(Bucket=HOSTED)
        hosted.put_object(Bucket=HOSTED, Key="a b+c", Body=b"hosted")
        assert hosted.get_object(Bucket=HOSTED, Key="a b+c")["Body"].read() == b"hosted"
        url = hosted.generate_presigned_url("get_object", Params={"Bucket": HOSTED, "Key": "a b+c"})
        assert url.startswith(f"https://{HOSTED}."), url
    finally:
        socket.getaddrinfo = original


for sentence, function in CASES:
    error = None
    try:
        function()
    except Exception:
        error = traceback.format_exc()
    print(json.dumps({"case": sentence, "error": error}), flush=True)
