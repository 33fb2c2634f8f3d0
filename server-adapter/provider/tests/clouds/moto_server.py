"""Moto with two desktops, which checks the signature of each request and what its user may do.

Prints one line of JSON: port, access key, secret and the desktops' ids. Ends when its standard input is closed.
"""

import json
import logging
import sys
import urllib.request

import boto3
from moto.server import ThreadedMotoServer

logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
url = f"http://{host}:{port}"
REGION = "eu-west-1"


def client(service, region=REGION):
    return boto3.client(
        service, region, endpoint_url=url, aws_access_key_id="setup", aws_secret_access_key="setup"
    )


def user(name, actions):
    iam = client("iam", "us-east-1")
    iam.create_user(UserName=name)
    statement = {"Effect": "Allow", "Action": actions, "Resource": "*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    iam.put_user_policy(UserName=name, PolicyName="p", PolicyDocument=policy)
    key = iam.create_access_key(UserName=name)["AccessKey"]
    return {"id": key["AccessKeyId"], "secret": key["SecretAccessKey"]}


keys = {
    "all": user("all", ["workspaces:*"]),
    "reader": user("reader", ["workspaces:DescribeWorkspaces"]),
}
ec2 = client("ec2")
vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
subnets = [
    ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{n}.0/24", AvailabilityZone=f"{REGION}{zone}")
    for n, zone in enumerate("ab")
]
subnets = [subnet["Subnet"]["SubnetId"] for subnet in subnets]
directory = client("ds").create_directory(
    Name="t.example.com", Password="Password1", Size="Small", VpcSettings={"VpcId": vpc, "SubnetIds": subnets}
)["DirectoryId"]
workspaces = client("workspaces")
workspaces.register_workspace_directory(DirectoryId=directory, SubnetIds=subnets)
properties = {"RunningMode": "ALWAYS_ON", "ComputeTypeName": "POWER", "Protocols": ["WSP"]}
made = workspaces.create_workspaces(
    Workspaces=[
        {"DirectoryId": directory, "UserName": name, "BundleId": "wsb-bh8rsxt14", "WorkspaceProperties": properties}
        for name in ["ana", "ben"]
    ]
)
# From here on each request is checked.
urllib.request.urlopen(
    urllib.request.Request(f"{url}/moto-api/reset-auth", data=b"0", headers={"Content-Type": "text/plain"})
)
ids = [desktop["WorkspaceId"] for desktop in made["PendingRequests"]]
print(json.dumps({"port": port, "keys": keys, "ids": ids, "directory": directory}), flush=True)
sys.stdin.read()
server.stop()
